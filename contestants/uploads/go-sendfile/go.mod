module photofinish/sendform

go 1.26
