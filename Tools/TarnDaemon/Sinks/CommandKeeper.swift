import CDaemon
import Foundation
import TarnStore
import ToolSupport

/// Ends the commands of a daemon that was killed, with all that they have started.
///
/// The system ends only the command itself then. So a small program beside the daemon knows the
/// process groups of the commands that run, and kills them when the pipe from the daemon ends,
/// which it does however the daemon ends. It begins with the first command. Any thread.
final class CommandKeeper: Sendable {
  static let shared = CommandKeeper()

  private static let script = """
    trap '' HUP INT TERM
    all=' '
    while read -r sign group; do
      case $sign in
      +) all="$all$group " ;;
      *) all="${all%% "$group" *} ${all#* "$group" }" ;;
      esac
    done
    for group in $all; do kill -s KILL -- "-$group"; done
    """

  private struct State {
    /// The pipe to it, and its process.
    var keeper: (pipe: Int32, process: pid_t)?
    var groups: Set<pid_t> = []
  }

  private let state = Lock(State())

  /// A command has begun, in a process group of its own.
  func add(_ group: pid_t) {
    state.withLock { state in
      state.groups.insert(group)
      if let pipe = state.keeper?.pipe, Self.write("+ \(group)\n", pipe) { return }
      Self.restart(&state)
    }
  }

  /// It has ended, and its number may become another one's.
  func remove(_ group: pid_t) {
    state.withLock { state in
      guard state.groups.remove(group) != nil, let pipe = state.keeper?.pipe else { return }
      _ = Self.write("- \(group)\n", pipe)
    }
  }

  private static func write(_ text: String, _ pipe: Int32) -> Bool {
    let bytes = Array(text.utf8)
    return Foundation.write(pipe, bytes, bytes.count) == bytes.count
  }

  /// Without one, commands run all the same.
  private static func restart(_ state: inout State) {
    if let (pipe, process) = state.keeper.take() {
      close(pipe)
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
    }
    var ends: [Int32] = [-1, -1]
    guard tarn_pipe(&ends, false) == 0 else { return }
    defer { close(ends[0]) }
    guard let process = start(ends[0]) else {
      close(ends[1])
      return
    }
    // It must never hold up a delivery.
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    state.keeper = (ends[1], process)
    for group in state.groups { _ = write("+ \(group)\n", ends[1]) }
  }

  private static func start(_ input: Int32) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    for output in [STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // What a terminal sends to the daemon is not for it.
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let texts = ["sh", "-c", script]
    var words = texts.map { strdup($0) } + [nil]
    var settings: [UnsafeMutablePointer<CChar>?] = [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    guard posix_spawn(&process, "/bin/sh", &actions, &attributes, &words, &settings) == 0 else {
      return nil
    }
    return process
  }
}
