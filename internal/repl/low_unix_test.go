//go:build unix

package repl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/golden"
	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
)

// A question that does not fit above the prompt takes the whole screen.
func TestLowScreens(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 6}, {80, 12}, {24, 12}, {24, 6}} {
		name := fmt.Sprintf("question-low-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			s := newStage(t, size[0], size[1], nil)
			s.Type("be polite\r")
			s.WaitFor(`waiting for the`)
			s.ask(edit())
			golden.File(t, "screens/"+name, steady(s))
		})
	}
}

// A question can be answered at every size with room for its keys and a few lines, and Ctrl+L
// then leaves nothing else on the screen.
func TestAQuestionAtManySizes(t *testing.T) {
	t.Parallel()
	s := newStage(t, 80, 24, nil)
	s.say("be polite")
	s.ask(edit())
	covered := 0
	for _, width := range []int{1, 2, 7, 24, 80, 300} {
		for _, height := range []int{1, 2, 3, 5, 6, 8, 11, 24, 100} {
			s.resize(width, height)
			if width < 24 || height < 6 {
				continue
			}
			s.WaitUntil(fmt.Sprintf("the question at %d×%d", width, height), func(m *vt.Terminal) bool {
				shown := m.String()
				return strings.Contains(shown, "edit main.go") && strings.Contains(shown, `println("hello"`) && strings.Contains(shown, "y yes")
			})
			if s.Modes().AltScreen {
				covered++
			}
		}
	}
	if covered == 0 {
		t.Error("the question never had the whole screen")
	}
	s.resize(80, 24)
	s.WaitFor(`(?s)❯ be polite.*edit main\.go.*good day.*y yes.*❯`)
	if s.Modes().AltScreen {
		t.Error("it has the whole screen still")
	}
	s.Press("ctrl+l")
	s.WaitUntil("the question once", func(m *vt.Terminal) bool {
		return strings.Count(m.String(), "❯ be polite") == 1 && strings.Count(m.String(), "edit main.go") == 1 && strings.Contains(m.String(), "y yes")
	})
}

// Ctrl+L also prints the conversation again while a question is open.
func TestReprintAtAQuestion(t *testing.T) {
	t.Parallel()
	s := newStage(t, 80, 24, nil)
	s.say("be polite")
	s.ask(edit())
	steady(s) // else the next frame is over the text of another program
	if _, err := s.TTY().WriteString("\x1b7\x1b[24Hwritten by another program\x1b8"); err != nil {
		t.Fatal(err)
	}
	s.Sync() // no longer: a frame that was on its way may be over the text at once
	s.Press("ctrl+l")
	s.WaitUntil("the conversation and the question alone", func(m *vt.Terminal) bool {
		return !strings.Contains(m.String(), "by another") && strings.Contains(m.String(), "❯ be polite") && strings.Contains(m.String(), "y yes")
	})
}
