"""How tools run: in processes of their own, or by a request over HTTP."""
