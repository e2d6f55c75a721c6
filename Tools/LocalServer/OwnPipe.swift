package import Foundation

extension Pipe {
  /// A pipe that only the intended process inherits. A process that another test starts
  /// meanwhile would otherwise inherit it and keep it open, and a reader would wait for its end.
  package static func ofOneProcess() -> Pipe {
    let pipe = Pipe()
    for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
      _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    return pipe
  }
}
