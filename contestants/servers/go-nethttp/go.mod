module photofinish.example/go-nethttp

go 1.24
