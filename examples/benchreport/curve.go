package main

import (
	"context"
	"image/color"
	"math"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// curve is how a cost grows, with hooks and without.
type curve struct {
	file, title, x, y string
	at                []int // where it is measured
	rounds            int
	logY              bool
	sides             []side
}

// side is one line of a curve. It makes ready for an x and returns what takes
// one sample there.
type side struct {
	name    string
	prepare func(x int) (sample, error)
}

type sample func(context.Context) (float64, error)

// line is a side that has been measured.
type line struct {
	name   string
	points plotter.XYs
}

// measure takes the samples of all sides in turn, so that whatever else the
// machine does hits all of them, and keeps the medians.
func (c curve) measure(ctx context.Context) ([]line, error) {
	lines := make([]line, len(c.sides))
	for _, x := range c.at {
		samples := make([]sample, len(c.sides))
		for i, s := range c.sides {
			var err error
			if samples[i], err = s.prepare(x); err != nil {
				return nil, err
			}
		}
		taken := make([][]float64, len(samples))
		for range c.rounds {
			for i, take := range samples {
				v, err := take(ctx)
				if err != nil {
					return nil, err
				}
				taken[i] = append(taken[i], v)
			}
		}
		for i, v := range taken {
			slices.Sort(v)
			lines[i].name = c.sides[i].name
			lines[i].points = append(lines[i].points, plotter.XY{X: float64(x), Y: v[len(v)/2]})
		}
	}
	return lines, nil
}

// draw writes the lines as SVG.
func (c curve) draw(path string, lines []line) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.title, c.x, c.y
	p.Title.Padding = vg.Points(6)
	p.X.Scale = plot.LogScale{}
	var ticks plot.ConstantTicks
	for _, x := range c.at {
		ticks = append(ticks, plot.Tick{Value: float64(x), Label: strconv.Itoa(x)})
	}
	p.X.Tick.Marker = ticks
	p.Legend.Top, p.Legend.Left = true, true
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 230}, color.Gray{Y: 230}
	p.Add(grid)
	for i, l := range lines {
		drawn, dots, err := plotter.NewLinePoints(l.points)
		if err != nil {
			return err
		}
		drawn.Color, drawn.Width = plotutil.Color(i), vg.Points(1.5)
		dots.Color, dots.Shape = plotutil.Color(i), plotutil.Shape(i)
		p.Add(drawn, dots)
		p.Legend.Add(l.name, drawn, dots)
	}
	if c.logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		// Whole decades, so that there are labels, and room for the legend.
		p.Y.Min = math.Pow(10, math.Floor(math.Log10(p.Y.Min)))
		p.Y.Max = math.Pow(10, math.Ceil(math.Log10(p.Y.Max)))
	} else {
		p.Y.Min, p.Y.Max = 0, p.Y.Max*1.3
	}
	svg, err := p.WriterTo(14*vg.Centimeter, 9*vg.Centimeter, "svg")
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := svg.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
