import Foundation

/// The descriptors 0, 1 and 2 of a program that may have been started without some of them.
package enum StandardDescriptors {
  /// Opens /dev/null as the closed ones, before another file gets their numbers and receives the
  /// program's output. Reading and writing them still fails as if they were closed.
  package static func fill() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // `open` returns the lowest free number, which is this one.
      _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
