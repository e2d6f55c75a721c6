import Foundation

/// The descriptors 0, 1 and 2 of a program that was started without some of them.
package enum StandardDescriptors {
  /// Opens /dev/null under those that are closed, before anything else gets their numbers: what the
  /// program prints would be written into that file. Reading and writing them fails as if they were
  /// closed still.
  package static func fill() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // The lowest number that is free is this one.
      _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
