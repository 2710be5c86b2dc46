UPDATE lease_tokens SET next = next + ? RETURNING next
