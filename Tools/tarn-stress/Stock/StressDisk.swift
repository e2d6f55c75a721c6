import Foundation
import StressFaults
import ToolSupport

/// A small disk for the file of a stress run, which is full now and then: an ext4 in a file. Only
/// this process and its children see it, and it ends with the last of them.
final class StressDisk {
  /// How long it is full.
  private static let fullFor = Duration.milliseconds(400)
  let folder: String
  /// Why there is none; nil if there is one.
  private(set) var leftOut: String?
  private var emptiesAt: ContinuousClock.Instant?

  /// - Parameter megabytes: its size.
  init(in parent: String, megabytes: Int = 512) throws {
    folder = parent + "/disk"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    leftOut = Self.mount(parent + "/disk.img", at: folder, megabytes)
    chmod(folder, 0o777)
  }

  private static func mount(_ image: String, at folder: String, _ megabytes: Int) -> String? {
    guard getuid() == 0 else { return "only root can mount one" }
    let code = stress_keep_mounts()
    guard code == 0 else { return "no mounts of its own: \(String(cString: strerror(code)))" }
    let made = open(image, O_RDWR | O_CREAT | O_EXCL, 0o600)
    defer { close(made) }
    guard made >= 0, ftruncate(made, off_t(megabytes) << 20) == 0 else { return "no room" }
    for command in [["mkfs.ext4", "-q", "-F", image], ["mount", "-o", "loop", image, folder]] {
      let child = try? ChildProcess(command[0], Array(command.dropFirst()))
      guard child?.wait() == .exited(0) else { return "'\(command[0])' fails" }
    }
    return nil
  }

  private var ballast: String { folder + "/ballast" }

  /// Fills it for a moment.
  func fill() {
    guard leftOut == nil, emptiesAt == nil else { return }
    let file = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    // In ever smaller steps to the last block.
    var (step, end) = (off_t(64 << 20), off_t(0))
    while file >= 0, step >= 4096 {
      if posix_fallocate(file, end, step) == 0 { end += step } else { step /= 2 }
    }
    emptiesAt = .now + Self.fullFor
  }

  /// Empties it when the moment is over.
  func turn() {
    if let emptiesAt, emptiesAt < .now { empty() }
  }

  func empty() {
    unlink(ballast)
    emptiesAt = nil
  }

  /// Takes it away, so that its folder can be removed.
  func end() {
    guard leftOut == nil else { return }
    _ = try? ChildProcess("umount", ["-l", folder]).wait()
  }
}
