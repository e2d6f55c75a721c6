import Foundation
import TarnStore

/// Opening files to read.
package enum InputDescriptor {
  /// Opens a file. The first read of a pipe with a name waits for a writer: an `open` that waited
  /// could not be interrupted.
  package static func open(_ path: String) throws(ToolError) -> Int32 {
    var facts = stat()
    let isPipe =
      path.withPath { stat($0, &facts) } == 0 && facts.st_mode & S_IFMT == S_IFIFO
    let descriptor = path.withPath {
      Foundation.open($0, O_RDONLY | O_CLOEXEC | (isPipe ? O_NONBLOCK : 0))
    }
    guard descriptor >= 0 else { throw ToolError("cannot read", path, errno: errno) }
    guard isPipe else { return descriptor }
    do throws(ToolError) {
      // A read without a writer would be the end.
      try Interruption.awaitInput(of: descriptor)
      _ = fcntl(descriptor, F_SETFL, 0)
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }
}
