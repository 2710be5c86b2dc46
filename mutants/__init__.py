"""Do the tests notice? Faults are put into copies of the source; the tests named beside each must fail."""
