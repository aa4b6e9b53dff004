package clipboard

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"time"
)

// ErrNoImage says that there is no image in the clipboard.
var ErrNoImage = errors.New("there is no image in the clipboard")

// ErrNoTool says that there is no program that could look.
var ErrNoTool = errors.New("there is no program to take an image out of the clipboard; install wl-clipboard or xclip, or paste its path")

// powershell prints the image in the clipboard, as base64.
const powershell = "Add-Type -AssemblyName System.Windows.Forms; $i = [Windows.Forms.Clipboard]::GetImage(); " +
	"if ($i) { $m = New-Object IO.MemoryStream; $i.Save($m, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }"

var imageTools = map[string][]tool{
	"darwin": {
		{args: []string{"pngpaste", "-"}},
		{args: []string{"osascript", "-e", "the clipboard as «class PNGf»"}},
	},
	"windows": {{args: []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-STA", "-Command", powershell}}},
	"": {
		{[]string{"wl-paste", "--no-newline", "--type", "image/png"}, "WAYLAND_DISPLAY"},
		{[]string{"xclip", "-selection", "clipboard", "-t", "image/png", "-o"}, "DISPLAY"},
		{[]string{"powershell.exe", "-NoProfile", "-NonInteractive", "-STA", "-Command", powershell}, "WSL_DISTRO_NAME"},
	},
}

// Image takes the image in the clipboard, of which it reads at most limit bytes and
// one more. env is the environment of the program.
func Image(ctx context.Context, env []string, limit int) ([]byte, error) {
	return image(ctx, runtime.GOOS, env, limit)
}

func image(ctx context.Context, system string, env []string, limit int) ([]byte, error) {
	err := ErrNoTool
	for t, path := range there(imageTools, system, env) {
		out, ok := read(ctx, path, t.args[1:], env, limit)
		if data := plain(out); ok && len(data) > 0 {
			return data, nil
		}
		err = ErrNoImage
	}
	return nil, err
}

// read runs a program and returns what it says. One that fails has no image.
func read(ctx context.Context, path string, args, env []string, limit int) (out []byte, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.WaitDelay = env, time.Second
	said, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return nil, false
	}
	out, err = io.ReadAll(io.LimitReader(said, int64(2*limit+100))) // as hexadecimal digits it is twice as long
	if err == nil && len(out) > 2*limit {
		cancel() // it has more to say, which nobody reads
		_ = cmd.Wait()
		return out, true
	}
	return out, cmd.Wait() == nil && err == nil
}

// plain decodes what the programs say: the image, or digits that stand for it.
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
