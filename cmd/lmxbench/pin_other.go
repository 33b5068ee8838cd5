//go:build !linux

package main

import "errors"

func pin(string) error { return errors.New("choosing cores works on Linux only") }
