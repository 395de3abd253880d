module example.com/cluster

go 1.24.0
