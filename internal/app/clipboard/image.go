package clipboard

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/bb2d0cf4/agent/internal/lookpath"
)

// errNoImage reports that the clipboard holds no image.
var errNoImage = errors.New("no image in the clipboard")

// errNoTool reports that no program can read the clipboard.
var errNoTool = errors.New("no program to read images from the clipboard: install wl-clipboard or xclip, or paste the image's path")

// powershell prints the clipboard's image in base64.
const powershell = "Add-Type -AssemblyName System.Windows.Forms; $i = [Windows.Forms.Clipboard]::GetImage(); " +
	"if ($i) { $m = New-Object IO.MemoryStream; $i.Save($m, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }"

var imageTools = map[string][]tool{
	"darwin": {
		{args: []string{"pngpaste", "-"}},
		{args: []string{"osascript", "-e", "the clipboard as «class PNGf»"}},
	},
	"windows": {{args: []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-STA", "-Command", powershell}}},
	"": {
		{args: []string{"wl-paste", "--no-newline", "--type", "image/png"}, needs: "WAYLAND_DISPLAY"},
		{args: []string{"xclip", "-selection", "clipboard", "-t", "image/png", "-o"}, needs: "DISPLAY"},
		{args: []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-STA", "-Command", powershell}, needs: "WSL_DISTRO_NAME"},
	},
}

// Image returns the clipboard's image. It reads at most limit+1 bytes, so that a longer
// result is too large.
func (p Programs) Image(ctx context.Context, limit int) ([]byte, error) {
	return p.image(ctx, runtime.GOOS, limit)
}

func (p Programs) image(ctx context.Context, system string, limit int) ([]byte, error) {
	err := errNoTool
	for t, path := range p.installed(imageTools, system) {
		out, ok := read(ctx, path, t.args[1:], p.Search.Environ(p.Env), limit)
		if data := plain(out); ok && len(data) > 0 {
			return data, nil
		}
		err = errNoImage
	}
	return nil, err
}

// read runs a program and returns its output. ok is false if the program fails, as it
// does without an image.
func read(ctx context.Context, path string, args, env []string, limit int) (out []byte, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := lookpath.CommandContext(ctx, path, args...)
	cmd.Env, cmd.WaitDelay = env, time.Second
	output, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return nil, false
	}
	out, err = io.ReadAll(io.LimitReader(output, int64(2*limit+100))) // twice as long in hexadecimal digits
	if err == nil && len(out) > 2*limit {
		cancel() // stop a program that has more to write
		_ = cmd.Wait()
		return out, true
	}
	return out, cmd.Wait() == nil && err == nil
}

// plain decodes a program's output: the image itself, or its hexadecimal or base64
// digits.
func plain(out []byte) []byte {
	if digits, ok := bytes.CutPrefix(out, []byte("«data PNGf")); ok {
		data, err := hex.DecodeString(string(bytes.TrimSuffix(bytes.TrimSpace(digits), []byte("»"))))
		if err != nil {
			return nil
		}
		return data
	}
	if trimmed := bytes.TrimSpace(out); bytes.HasPrefix(trimmed, []byte("iVBORw0KGg")) {
		data, err := base64.StdEncoding.DecodeString(string(trimmed))
		if err != nil {
			return nil
		}
		return data
	}
	return out
}
