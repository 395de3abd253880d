package scenario

import "time"

// placeCommands control the routes, watches and clocks of clients.
var placeCommands = []Command{
	{Name: "route", Usage: "CLIENT N", Help: "send a client's next requests to a replica", Example: "route alice 2",
		Group: Worldly, Args: []Arg{Client, Replica}, needs: 2, run: place(func(w *World, c *client, op *Op) error {
			n, err := w.replica(op.Args[1])
			if err != nil {
				return err
			}
			c.replica = n
			return w.cluster.Route(w.agent(c.name), n)
		})},
	{Name: "hold", Usage: "CLIENT", Help: "hold the watch events of a client", Example: "hold alice",
		Group: Worldly, Args: []Arg{Client}, needs: 1, run: place(func(w *World, c *client, _ *Op) error {
			w.cluster.Hold(w.agent(c.name))
			c.held = true
			return nil
		})},
	{Name: "release", Usage: "CLIENT", Help: "release the watch events that hold keeps", Example: "release alice",
		Group: Worldly, Args: []Arg{Client}, needs: 1, run: place(func(w *World, c *client, _ *Op) error {
			w.cluster.Release(w.agent(c.name))
			c.held = false
			return nil
		})},
	{Name: "jump", Usage: "CLIENT DURATION", Help: "change a client's clock relative to the cluster's", Example: "jump alice -5m",
		Group: Worldly, Args: []Arg{Client, Offset}, needs: 2, run: place(func(_ *World, c *client, op *Op) error {
			d, err := time.ParseDuration(op.Args[1])
			c.jump += d
			return err
		})},
}

// place returns a run function that calls do with the client that the first argument names.
func place(do func(w *World, c *client, op *Op) error) func(*World, *Op) error {
	return func(w *World, op *Op) error {
		c := w.client(op.Args[0])
		if err := do(w, c, op); err != nil {
			return err
		}
		w.addControlFrame(op, "client/"+c.name, 0)
		return nil
	}
}
