package author

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Size and margins of the plot, in pixels.
const (
	plotWidth, plotHeight = 900, 560
	plotLeft, plotTop     = 70, 40
	plotInner             = 460
)

var plotColours = []string{"#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d35400", "#555555", "#16a085"}

// plot draws, for each set, the share of right answers against the share of
// wrong ones over the confidences, as SVG.
func plot(all []figures) string {
	widest := 1.0
	var sets []string
	for _, f := range all {
		widest = max(widest, f.WrongShare)
		if !slices.Contains(sets, f.Set) {
			sets = append(sets, f.Set)
		}
	}
	x := func(wrong float64) float64 { return plotLeft + wrong/widest*(plotWidth-plotLeft-240) }
	y := func(right float64) float64 { return plotTop + plotInner - right/100*plotInner }
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"24\" font-size=\"15\">Held-out cases: right (%%) against wrong of answered (%%), by confidence; simulated</text>\n", plotLeft)
	for step := 0; step <= 4; step++ {
		right, wrong := 25*float64(step), widest*float64(step)/4
		fmt.Fprintf(&b, "<path d=\"M%d %.1fH%.1f\" stroke=\"#ddd\"/><text x=\"30\" y=\"%.1f\">%.0f</text><text x=\"%.1f\" y=\"%d\">%.2f</text>\n",
			plotLeft, y(right), x(widest), y(right)+4, right, x(wrong)-10, plotTop+plotInner+20, wrong)
	}
	for i, set := range sets {
		colour := plotColours[i%len(plotColours)]
		var points []string
		for _, f := range byConfidence(all, set) {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(f.WrongShare), y(f.RightShare)))
			fmt.Fprintf(&b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%s, %s: %.1f %% right, %.2f %% wrong</title></circle>\n", x(f.WrongShare), y(f.RightShare), colour, set, f.Confidence, f.RightShare, f.WrongShare)
		}
		fmt.Fprintf(&b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\"/><text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", strings.Join(points, " "), colour, plotWidth-200, plotTop+20*i+10, colour, set)
	}
	return b.String() + "</svg>\n"
}

func TestPlotHasEverySetAndConfidence(t *testing.T) {
	var all []figures
	for i, c := range confidences {
		all = append(all, figures{Set: "a", Confidence: c.name, Raw: true, RightShare: 90 - 10*float64(i), WrongShare: 2 - 0.5*float64(i)}, figures{Set: "b", Confidence: c.name, Raw: true})
	}
	svg := plot(all)
	if got := strings.Count(svg, "<circle"); got != 2*len(confidences) {
		t.Errorf("%d points, want %d", got, 2*len(confidences))
	}
	if strings.Count(svg, "<polyline") != 2 || !strings.Contains(svg, "90.0 % right, 2.00 % wrong") {
		t.Errorf("a line or a figure is missing:\n%s", svg)
	}
}
