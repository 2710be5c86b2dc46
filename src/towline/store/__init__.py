"""Where runs are kept. `api` is the contract, `conformance` the same as tests, the rest are stores."""
