//go:build !linux

package sendform

import "net"

func wrap(connection net.Conn) net.Conn { return connection }
