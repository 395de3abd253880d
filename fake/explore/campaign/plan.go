package campaign

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/fault"
)

// Plan describes the additional events of one run: a seed, faults and steps.
type Plan struct {
	// Seed determines all random values in the run.
	Seed  uint64
	Items []Item
}

// Item is one line of a Plan: a fault or a step.
type Item struct {
	Fault *fault.Fault // nil for a step
	Step  Step
}

// String returns the line.
func (i Item) String() string {
	if i.Fault != nil {
		return i.Fault.String()
	}
	return i.Step.String()
}

// Kind returns the kind of the item. Items can be excluded by kind.
func (i Item) Kind() string {
	if i.Fault != nil {
		return i.Fault.Action().Kind.String()
	}
	return i.Step.Do.name()
}

// String returns the text form of the plan, which Parse accepts.
func (p Plan) String() string {
	return fmt.Sprintf("seed %d\n", p.Seed) + p.Lines()
}

// Lines returns the text form without the seed.
func (p Plan) Lines() string {
	var b strings.Builder
	for _, i := range p.Items {
		b.WriteString(i.String() + "\n")
	}
	return b.String()
}

// Faults returns the faults of the plan.
func (p Plan) Faults() (list fault.Plan) {
	for _, i := range p.Items {
		if i.Fault != nil {
			list = append(list, *i.Fault)
		}
	}
	return list
}

// Steps returns the steps of the plan.
func (p Plan) Steps() (list []Step) {
	for _, i := range p.Items {
		if i.Fault == nil {
			list = append(list, i.Step)
		}
	}
	return list
}

// Parse parses a plan. It ignores empty lines and comments (#). Its errors contain the line number.
func Parse(text string) (Plan, error) {
	var p Plan
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.parseLine(line); err != nil {
			return p, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	return p, nil
}

func (p *Plan) parseLine(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "seed":
		seed, err := strconv.ParseUint(rest, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a seed", rest)
		}
		p.Seed = seed
		return nil
	case "on":
		faults, err := fault.Parse(line)
		if err == nil && len(faults) != 1 {
			err = errors.New("it is not one fault")
		}
		if err != nil {
			return err
		}
		p.Items = append(p.Items, Item{Fault: &faults[0]})
		return nil
	}
	step, err := ParseStep(line)
	if err != nil {
		return err
	}
	p.Items = append(p.Items, Item{Step: step})
	return nil
}
