module example.com/draws

go 1.24.0
