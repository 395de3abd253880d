module example.com/a

go 1.24.0
