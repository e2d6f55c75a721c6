import Dispatch
import Foundation
package import TarnStore

/// The start of Dispatch in a program that needs it for as long as it runs.
///
/// Dispatch opens descriptors for its event loop and for the timers of each clock when it first
/// needs them, and ends the process if there are none left.
package enum DispatchStart {
  /// Lets Dispatch open its descriptors now. It keeps them.
  ///
  /// - Parameter count: how many descriptors the program needs at least, with those.
  /// - Throws: `StorageError` if the process may not open so many.
  package static func run(withRoomFor count: Int, operation: String) throws(StorageError) {
    try requireRoom(count, operation)
    let group = DispatchGroup()
    let queue = DispatchQueue.global()
    // A timer that is due already would not need a descriptor.
    let soon = DispatchTimeInterval.milliseconds(1)
    for _ in 1...2 { group.enter() }
    queue.asyncAfter(deadline: .now() + soon) { group.leave() }
    queue.asyncAfter(wallDeadline: .now() + soon) { group.leave() }
    group.wait()
  }

  private static func requireRoom(_ count: Int, _ operation: String) throws(StorageError) {
    var held: [Int32] = []
    defer { for descriptor in held { close(descriptor) } }
    for _ in 0..<count {
      let made = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard made >= 0 else { throw StorageError(errno: errno, operation: operation, path: "") }
      held.append(made)
    }
  }
}
