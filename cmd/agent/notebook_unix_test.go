//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

const book = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "sum",
   "metadata": {},
   "outputs": [{"name":"stdout", "output_type":"stream", "text":"three\n"}],
   "source": [
    "a = 1\n",
    "print(a + 2)"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

// TestNotebook: the model reads cells and changes them one by one. The person sees and approves
// the change of the file, all other bytes stay, and /undo takes it back.
func TestNotebook(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t,
		callOf("read_file", `{"path":"n.ipynb"}`),
		callOf("edit_file", `{"path":"n.ipynb","cell":"sum","old_string":"a + 2","new_string":"a + 3"}`),
		callOf("edit_file", `{"path":"n.ipynb","cell":"delete intro"}`),
		callOf("edit_file", `{"path":"n.ipynb","cell":"markdown after 0","new_string":"## New"}`),
		callOf("edit_file", `{"path":"n.ipynb","cell":"gone","new_string":"x"}`),
		llmtest.Turn{Text: "Done."},
	), map[string]string{"n.ipynb": book})
	d.sit()
	d.say("change it")
	d.asked(`edit n.ipynb \+3 −3`)
	if s := d.Screen(); !strings.Contains(s, "a + 3") {
		t.Errorf("the change is not shown:\n%s", s)
	}
	if d.read("n.ipynb") != book {
		t.Error("it was written before the answer")
	}
	if told := d.told(1); !strings.Contains(told, "--- cell 2, id sum, code\na = 1\nprint(a + 2)\n--- outputs of cell 2\nthree\n--- a notebook") ||
		!strings.Contains(told, "call edit_file with cell") {
		t.Errorf("the model is told %q", told)
	}
	d.Press("y")
	d.asked(`edit n.ipynb \+0 −8`)
	d.Press("y")
	d.asked(`edit n.ipynb \+8 −0`)
	d.Press("y")
	d.WaitFor(`Done\.`)
	d.idle()
	if told := d.told(5); !strings.Contains(told, `there is no cell \"gone\"`) && !strings.Contains(told, `there is no cell "gone"`) {
		t.Errorf("the model is told %q", told)
	}
	want := strings.NewReplacer("a + 2", "a + 3", "\"execution_count\": 3", "\"execution_count\": null", "\"# Title\"", "\"## New\"").Replace(book)
	from, to := strings.Index(want, "\"outputs\": ["), strings.Index(want, "   \"source\": [\n    \"a = 1")
	want = want[:from] + "\"outputs\": [],\n" + want[to:]
	got := d.read("n.ipynb")
	id := got[strings.Index(got, `"id": "`)+len(`"id": "`):][:8]
	if want = strings.Replace(want, "intro", id, 1); got != want {
		t.Errorf("the file holds\n%s\nwant\n%s", got, want)
	}
	d.say("/undo")
	d.asked(`edit n.ipynb \+0 −8`)
	d.Press("y")
	d.WaitFor(`undone: `)
	if text := d.read("n.ipynb"); strings.Contains(text, "## New") || !strings.Contains(text, "a + 3") {
		t.Errorf("after /undo it holds %s", text)
	}
	d.leave()
}
