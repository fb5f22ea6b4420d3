module photofinish/uploads-go

go 1.26
