package lock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/ide/proof"
)

// maxSecret limits the length of a secret.
const maxSecret = 500

// socketTime is how long an editor has to give its secret.
const socketTime = 10 * time.Second

// ReadSecret returns the secret of an editor of our own dialect. Ours keeps it
// in memory and give it to programs that connect to a Unix socket, which a command in the
// sandbox cannot do; a file it might read.
func (f File) ReadSecret(ctx context.Context) (string, error) {
	if f.SecretSocket == "" {
		return f.Secret, nil
	}
	secret, err := askSocket(ctx, f.SecretSocket)
	if err != nil {
		return "", fmt.Errorf("the editor's secret could not be read: %w", err)
	}
	return secret, nil
}

// askSocket reads the line that the socket gives to everybody who connects.
func askSocket(ctx context.Context, path string) (secret string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, socketTime, fmt.Errorf("nothing was given within %s", socketTime))
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	defer context.AfterFunc(ctx, func() {
		defer crash.Guard()
		_ = conn.SetDeadline(time.Now())
	})()
	data, err := io.ReadAll(io.LimitReader(conn, maxSecret+2))
	if err != nil {
		return "", cmp.Or(context.Cause(ctx), err)
	}
	secret, whole := strings.CutSuffix(string(data), "\n")
	if !whole || isWeak(secret) {
		return "", fmt.Errorf("the output of %s is not a secret", path)
	}
	return secret, nil
}

// isWeak reports whether a secret is malformed or too short.
func isWeak(secret string) bool { return len(secret) < proof.MinSecret || unsendable(secret) }

// unspoken explains why an editor of our own dialect cannot be spoken to, or returns
// "".
func (f File) unspoken() string {
	switch {
	case f.Protocol != proof.Version:
		return fmt.Sprintf("its extension speaks version %d of the protocol, this agent version %d: run agent ide install, then reload its window", f.Protocol, proof.Version)
	case f.SecretSocket != "" && !filepath.IsAbs(f.SecretSocket):
		return "the socket in its lock file is not an absolute path"
	case f.SecretSocket == "" && isWeak(f.Secret):
		return "the lock file has no secret"
	}
	return ""
}
