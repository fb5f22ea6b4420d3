// Package sendform posts multipart/form-data whose files reach the kernel's sendfile through net/http.
//
// A [Form] knows the length of its whole body before it sends a byte, so that the request has a Content-Length, and a
// connection made by [Transport] or [Dial] sends the files of that body from the page cache: no byte of a file is copied
// into the program, whatever its size.
//
//	form := new(sendform.Form)
//	form.Field("title", "Finish line")
//	form.File("file", "/var/spool/finish.mp4")
//	request, err := form.Request(ctx, http.MethodPost, "http://example.com/upload")
//	…
//	client := &http.Client{Transport: sendform.Transport(nil)}
//	response, err := client.Do(request)
//
// The request is an ordinary one. Over TLS, over HTTP/2, with a chunked body, by another transport, or on a system other
// than Linux, the same bytes are sent by reading and writing.
//
// # How it reaches sendfile
//
// net/http copies a request's body of known length by io.Copy into a bufio.Writer whose buffer it has just flushed; that
// hands an *io.LimitedReader around the body to ReadFrom of the connection. The connection that [Dial] makes recognises
// the bodies of this package there. This order of calls is not documented by net/http. If a release of Go changes it,
// uploads stay right and become copies; [Counts] tells, and a test of this package fails.
package sendform
