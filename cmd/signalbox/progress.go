package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// progress shows how far work has come, on stderr and only on a terminal, once
// the work has taken a second.
type progress struct {
	what    string
	out     io.Writer
	started time.Time
	bar     *progressbar.ProgressBar
}

func newProgress(c *cli.Context, what string) *progress {
	p := &progress{what: what, started: time.Now()}
	if file, ok := c.App.ErrWriter.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.out = file
	}
	return p
}

// update shows done of total parts.
func (p *progress) update(done, total int) {
	if p.out == nil || time.Since(p.started) < time.Second {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription(p.what), progressbar.OptionShowCount(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	p.bar.ChangeMax(total)
	_ = p.bar.Set(done) // a bar that can't be drawn is no error of the work
}

// finish removes the bar.
func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
