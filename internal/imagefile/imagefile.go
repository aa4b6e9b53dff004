// Package imagefile recognises images in the formats that models take: PNG, JPEG, GIF and
// WebP. It guarantees that format and size come from the bytes, never from a name, and that
// an image that is cut off is refused.
package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	_ "image/gif" // the formats that models take
	_ "image/jpeg"
	_ "image/png"
	"strings"
)

// Image describes an image.
type Image struct {
	Mime          string
	Width, Height int // in pixels
}

// Errors of Parse.
var (
	ErrFormat = errors.New("it is not a PNG, JPEG, GIF or WebP")
	ErrCutOff = errors.New("the image is cut off")
)

// Begins reports whether a file that begins with head may be an image.
func Begins(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")) || bytes.HasPrefix(head, []byte("\xff\xd8\xff")) ||
		bytes.HasPrefix(head, []byte("GIF8")) || isWebP(head)
}

func isWebP(data []byte) bool {
	return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
}

// Parse reads the format and the size of an image. The error is ErrFormat, or ErrCutOff beside
// the part that it could read.
func Parse(data []byte) (Image, error) {
	if isWebP(data) {
		return parseWebP(data)
	}
	cfg, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return Image{}, ErrFormat
	}
	img := Image{"image/" + kind, cfg.Width, cfg.Height}
	if !whole(kind, data) {
		return img, ErrCutOff
	}
	return img, nil
}

// whole reports whether the image has its end.
func whole(kind string, data []byte) bool {
	switch kind {
	case "png":
		return hasPNGEnd(data)
	case "jpeg":
		return bytes.Contains(data, []byte("\xff\xd9"))
	}
	return strings.HasSuffix(strings.TrimRight(string(data[max(0, len(data)-64):]), "\x00"), ";") // GIF
}

// hasPNGEnd walks from chunk to chunk: length, name, data, checksum.
func hasPNGEnd(data []byte) bool {
	const signature, frame = 8, 12
	for at := uint64(signature); at+frame <= uint64(len(data)); {
		if string(data[at+4:at+8]) == "IEND" {
			return true
		}
		at += frame + uint64(binary.BigEndian.Uint32(data[at:]))
	}
	return false
}

// parseWebP reads the size from the first chunk: lossy, lossless or extended.
func parseWebP(data []byte) (Image, error) {
	if len(data) < 30 {
		return Image{}, ErrCutOff
	}
	img := Image{Mime: "image/webp"}
	b := data[20:]
	switch string(data[12:16]) {
	case "VP8 ":
		img.Width, img.Height = int(binary.LittleEndian.Uint16(b[6:])&0x3fff), int(binary.LittleEndian.Uint16(b[8:])&0x3fff)
	case "VP8L":
		n := binary.LittleEndian.Uint32(b[1:])
		img.Width, img.Height = int(n&0x3fff)+1, int(n>>14&0x3fff)+1
	case "VP8X":
		three := func(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }
		img.Width, img.Height = three(b[4:])+1, three(b[7:])+1
	default:
		return Image{}, ErrFormat
	}
	if uint64(binary.LittleEndian.Uint32(data[4:]))+8 > uint64(len(data)) {
		return img, ErrCutOff
	}
	return img, nil
}
