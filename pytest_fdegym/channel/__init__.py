"""How an agent reaches the customer: a server on a unix socket and the clients of bin/."""
