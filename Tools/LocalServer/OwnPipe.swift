package import Foundation

extension Pipe {
  /// A pipe that only the process gets to which it is given. One that another test starts meanwhile
  /// would keep it open for as long as it lives, and whoever reads would wait for the end.
  package static func ofOneProcess() -> Pipe {
    let pipe = Pipe()
    for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
      _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    return pipe
  }
}
