package import Foundation

/// Children of this process that go on in its code, without `exec`.
package enum Forked {
  /// How a child is made.
  package enum Way: String, Sendable, Codable, CaseIterable {
    /// By the C library, which prepares itself and everybody who asked for it.
    case prepared = "fork"
    /// Without calling those who asked, as a raw system call does.
    case unprepared = "_Fork"
  }

  /// Swift does not offer fork, for good reasons; a store must survive those who call it anyway.
  package static func start(_ way: Way = .prepared, _ body: () -> Int32) -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    let fork = unsafeBitCast(dlsym(nil, way.rawValue), to: Fork.self)
    let child = fork()
    if child == 0 { _exit(body()) }
    return child
  }

  /// What the body gave, -1 if a signal ended the child.
  package static func run(_ way: Way = .prepared, _ body: () -> Int32) -> Int32 {
    let child = start(way, body)
    var status: Int32 = 0
    waitpid(child, &status, 0)
    return status & 0x7f == 0 ? status >> 8 : -1
  }
}
