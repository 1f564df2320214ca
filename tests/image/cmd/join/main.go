// SPDX-License-Identifier: Apache-2.0

// Command join makes one image for several architectures of archives of one each, and prints its digest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"berth.dev/tests/image"
	"berth.dev/tests/internal/program"
)

type options struct {
	out, version string
	created      time.Time
	archives     []string
}

func main() { program.Main("join", parse, run) }

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("join", flag.ContinueOnError)
	flags.StringVar(&o.out, "out", "", "the `file` to write: a tar of an OCI image layout")
	flags.StringVar(&o.version, "version", "", "Berth's version, such as 0.1.0")
	epoch := flags.Int64("epoch", 0, "the time of all files, in `seconds` since 1970")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "Usage: join [options] <archive>...")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.created, o.archives = time.Unix(*epoch, 0).UTC(), flags.Args()
	if o.out == "" || o.version == "" || len(o.archives) == 0 {
		return o, errors.New("join: --out, --version and an archive are needed")
	}
	return o, nil
}

func run(_ context.Context, o options) error {
	digest, err := image.Join(o.out, o.version, o.created, o.archives...)
	if err != nil {
		return err
	}
	fmt.Println(digest)
	return nil
}
