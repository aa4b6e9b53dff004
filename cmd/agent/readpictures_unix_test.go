//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/transcriptjudge"
	"github.com/bb2d0cf4/agent/internal/llm/llmtest"
)

// gray returns an image as encode writes it.
func gray(t *testing.T, width, height int, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(b *bytes.Buffer, img image.Image) error { return png.Encode(b, img) }

// gallery has a file of each format, and files that cannot be shown. The names say nothing.
func gallery(t *testing.T) map[string][]byte {
	t.Helper()
	webp := append([]byte("RIFF\x1e\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"), 0, 0, 0, 0, 11, 0, 0, 7, 0, 0)
	return map[string][]byte{
		"png":  gray(t, 12, 8, asPNG),
		"jpeg": gray(t, 12, 8, func(b *bytes.Buffer, img image.Image) error { return jpeg.Encode(b, img, nil) }),
		"gif":  gray(t, 12, 8, func(b *bytes.Buffer, img image.Image) error { return gif.Encode(b, img, nil) }),
		"webp": append(webp, make([]byte, 8)...),
		"cut":  gray(t, 12, 8, asPNG)[:40], "wide": gray(t, 8001, 1, asPNG), "heavy": append(gray(t, 12, 8, asPNG), make([]byte, 4<<20)...),
	}
}

// readsOf returns a call of read_file for each name.
func readsOf(names ...string) (turns []llmtest.Turn) {
	for _, name := range names {
		turns = append(turns, callOf("read_file", fmt.Sprintf(`{"path":%q}`, name)))
	}
	return append(turns, llmtest.Turn{Text: "Done."})
}

// eyes sets up a model of a wire that takes images, or takes none.
func (d *desk) eyes(wire string, takes bool) {
	d.keep("config.yaml", fmt.Sprintf("providers:\n  mine:\n    base_url: %s\n    wire: %s\n    models:\n      large: {images: %v}\n", d.server.URL(), wire, takes))
	d.env = append(d.env, "AGENT_MODEL=mine/large", "OPENAI_BASE_URL=")
}

// TestPromptWithPictures: the pictures that a prompt of -p names are attached on each wire as in
// the terminal, those that standard input names are not, and a model without pictures is told.
func TestPromptWithPictures(t *testing.T) {
	t.Parallel()
	shot := gallery(t)["png"]
	encoded := base64.StdEncoding.EncodeToString(shot)
	for _, c := range []struct {
		name, prompt, stdin string
		takes               bool
		pictures            int
	}{
		{"relative", "what is in ./shot.png and ./none.png", "", true, 1},
		{"mentioned", "compare @shot.png", "and ./shot.png", true, 1},
		{"two", "compare ./shot.png ./sub/shot.png", "", true, 2},
		{"only talked about", "rename shot.png", "./shot.png", true, 0},
		{"no pictures", "what is in ./shot.png", "", false, 0},
	} {
		for wire, judge := range map[string]func([]byte) error{
			"chat": transcriptjudge.Check, "responses": transcriptjudge.CheckResponses, "anthropic": transcriptjudge.CheckMessages,
		} {
			d := newDesk(t, answers(t, "A gray one."), map[string]string{"shot.png": string(shot), "sub/shot.png": string(shot)})
			d.eyes(wire, c.takes)
			cmd := d.program("-p", c.prompt)
			if c.stdin != "" {
				cmd.Stdin = strings.NewReader(c.stdin)
			}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "A gray one.") {
				t.Fatalf("%s, %s: %v: %s", c.name, wire, err, out)
			}
			body := string(d.server.Requests()[0])
			if n := strings.Count(body, encoded); n != c.pictures {
				t.Errorf("%s, %s: %d pictures were sent", c.name, wire, n)
			}
			if told := strings.Contains(string(out), "may not accept images"); told == c.takes {
				t.Errorf("%s, %s: %s", c.name, wire, out)
			}
			if err := judge([]byte(body)); err != nil {
				t.Errorf("%s, %s: %v", c.name, wire, err)
			}
		}
	}
}

// TestReadPicture: read_file shows an image to a model that takes images, on each wire, at once
// and in all later requests, and refuses those that a provider would refuse.
func TestReadPicture(t *testing.T) {
	t.Parallel()
	files := gallery(t)
	for wire, judge := range map[string]func([]byte) error{
		"chat": transcriptjudge.Check, "responses": transcriptjudge.CheckResponses, "anthropic": transcriptjudge.CheckMessages,
	} {
		t.Run(wire, func(t *testing.T) {
			d := newDesk(t, llmtest.NewServer(t, readsOf("png", "jpeg", "gif", "webp", "cut", "wide", "heavy")...), nil)
			for name, data := range files {
				d.write(name, string(data))
			}
			d.eyes(wire, true)
			if code, out := d.prompted(); code != 0 {
				t.Fatal(out)
			}
			for i, format := range []string{"png", "jpeg", "gif", "webp"} {
				data := base64.StdEncoding.EncodeToString(files[format])
				if before, after := string(d.server.Requests()[i]), string(d.server.Requests()[i+1]); strings.Contains(before, data) || !strings.Contains(after, data) ||
					!strings.Contains(after, fmt.Sprintf("%s: image/%s, 12×8 pixels, %d bytes", format, format, len(files[format]))) {
					t.Errorf("no %s in %.20000s", format, after)
				}
			}
			last := d.server.Requests()[7]
			for _, want := range []string{
				base64.StdEncoding.EncodeToString(files["png"]), "cut begins like an image, but cannot be shown to you: the image is cut off",
				"wide is an image of ", ", 8001×1 pixels, which is too large", "heavy is an image of ", "at most 3932160 bytes and 8000 pixels a side",
			} {
				if !strings.Contains(string(last), want) {
					t.Errorf("no %q in %.20000s", want, last)
				}
			}
			for _, never := range []string{"cut", "wide"} {
				if strings.Contains(string(last), base64.StdEncoding.EncodeToString(files[never])) {
					t.Errorf("%s was sent", never)
				}
			}
			if err := judge(last); err != nil {
				t.Errorf("%v in %.20000s", err, last)
			}
		})
	}
}

// TestReadPictureBlind: a model that takes no images learns why it sees none.
func TestReadPictureBlind(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, readsOf("a.png")...), nil)
	data := gray(t, 12, 8, asPNG)
	d.write("a.png", string(data))
	d.eyes("responses", false)
	if code, out := d.prompted(); code != 0 {
		t.Fatal(out)
	}
	got := string(d.server.Requests()[1])
	if !strings.Contains(got, "a.png: image/png, 12×8 pixels") || !strings.Contains(got, "[Images cannot be shown to you.]") ||
		strings.Contains(got, base64.StdEncoding.EncodeToString(data)) {
		t.Errorf("%s", got)
	}
}

// TestReadPictureKept: the image is in the session's file, so that a later run sends it too.
func TestReadPictureKept(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, append(readsOf("a.png"), llmtest.Turn{Text: "Grey."})...), nil)
	data := gray(t, 12, 8, asPNG)
	d.write("a.png", string(data))
	d.eyes("chat", true)
	for _, args := range [][]string{{"-p", "look"}, {"-c", "-p", "which colour?"}} {
		if out, err := d.program(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	got := d.request(2)
	if !strings.Contains(string(got), base64.StdEncoding.EncodeToString(data)) {
		t.Errorf("%s", got)
	}
	if err := transcriptjudge.Check(got); err != nil {
		t.Errorf("%v in %s", err, got)
	}
}

// TestReadPictureHosted: the host is shown the image, in the turn and when it loads the session.
func TestReadPictureHosted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, llmtest.NewServer(t, readsOf("a.png")...), nil)
	data := gray(t, 12, 8, asPNG)
	d.write("a.png", string(data))
	d.eyes("chat", true)
	h := d.host()
	h.request("initialize", map[string]any{"protocolVersion": 1})
	id, _ := h.open()
	h.prompt(id, "look", "end_turn")
	shown := func(want int) {
		n := 0
		for _, u := range h.whole["tool_call_update"] {
			if s := fmt.Sprint(u); strings.Contains(s, "mimeType:image/png") && strings.Contains(s, "data:"+base64.StdEncoding.EncodeToString(data)) {
				n++
			}
		}
		if n != want {
			t.Errorf("the host was shown %d images, want %d: %v", n, want, h.whole["tool_call_update"])
		}
	}
	shown(1)
	h.request("session/close", map[string]any{"sessionId": id})
	h.request("session/load", map[string]any{"sessionId": id, "cwd": d.dir, "mcpServers": []any{}})
	shown(2)
	h.end()
}
