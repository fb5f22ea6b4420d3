module photofinish/clients-go

go 1.26
