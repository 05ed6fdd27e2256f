package graph

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// Export writes the network as text, so that any program can check a route (D15.12).
func Export(w io.Writer, g *Graph, dataVersion string) error {
	out := bufio.NewWriterSize(w, 1<<16)
	if _, err := fmt.Fprintf(out, "# wayside-arcs 1 %s\n", dataVersion); err != nil {
		return err
	}
	line := make([]byte, 0, 1024)
	for i := range g.Nodes {
		if _, err := out.Write(g.appendNode(line[:0], i)); err != nil {
			return err
		}
	}
	for i := range g.Arcs {
		if _, err := out.Write(g.appendArc(line[:0], i)); err != nil {
			return err
		}
	}
	for arc := range g.Arcs {
		for _, turn := range g.TurnsFrom(uint32(arc)) {
			line = appendFields(append(line[:0], 'T'), int64(arc), int64(turn.To), int64(turn.Weight), int64(turn.Duration))
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	if _, err := fmt.Fprintf(out, "# end %d %d\n", len(g.Nodes), len(g.Arcs)); err != nil {
		return err
	}
	return out.Flush()
}

func (g *Graph) appendNode(line []byte, i int) []byte {
	n := &g.Nodes[i]
	line = appendFields(append(line, 'N'), int64(i))
	line = appendDegrees(append(line, '\t'), n.Lat)
	line = appendDegrees(append(line, '\t'), n.Lng)
	return append(appendFields(line, n.OSM), '\n')
}

func (g *Graph) appendArc(line []byte, i int) []byte {
	a := &g.Arcs[i]
	p := &g.Pieces[a.Piece]
	line = appendFields(append(line, 'A'), int64(i), int64(a.From), int64(a.To), int64(a.Weight), int64(a.Duration), int64(p.Length))
	line = append(line, '\t')
	if a.Flags&MayBegin != 0 {
		line = append(line, 's')
	}
	if a.Flags&MayEnd != 0 {
		line = append(line, 'e')
	}
	if a.Flags&(MayBegin|MayEnd) == 0 {
		line = append(line, '-')
	}
	line = appendFields(line, int64(a.CopyOf), g.Ways[p.Way].OSM)
	separator := byte('\t')
	positions := g.PieceLine(a.Piece)
	for j := range positions {
		at := positions[j]
		if a.Flags&Backward != 0 {
			at = positions[len(positions)-1-j]
		}
		line = appendDegrees(append(line, separator), at.Lng)
		line = appendDegrees(append(line, ','), at.Lat)
		separator = ' '
	}
	return append(line, '\n')
}

// appendFields appends numbers, a tab before each.
func appendFields(line []byte, values ...int64) []byte {
	for _, v := range values {
		line = strconv.AppendInt(append(line, '\t'), v, 10)
	}
	return line
}

// appendDegrees appends units of 1e-7 degrees as degrees, without rounding.
func appendDegrees(line []byte, value int32) []byte {
	v := int64(value)
	if v < 0 {
		line, v = append(line, '-'), -v
	}
	line = strconv.AppendInt(line, v/1e7, 10)
	rest := v % 1e7
	if rest == 0 {
		return line
	}
	digits := strconv.AppendInt(nil, 1e7+rest, 10)[1:]
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return append(append(line, '.'), digits...)
}
