module example.com/plain

go 1.24.0
