"""What the server does by itself, one small loop each."""
