import Foundation
import TarnStore
import ToolSupport

/// What a command says when the system ends it: which file it worked on, and what is wrong there.
///
/// Before a command reads a file, all of its pages are walked, and what lies in them is checked as
/// it is read. What is left is what nobody could check: a file that is cut short or overwritten
/// meanwhile, and mistakes of ours. A process that was sent SIGSEGV or SIGBUS can do nothing any
/// more that is sure to work, except become another one: so it becomes this program anew, which
/// walks the pages, says what it found, and ends with status 1.
struct LastWords {
  private static let word = "--ended-by"
  private static let signals = [
    (SIGSEGV, "SIGSEGV"), (SIGBUS, "SIGBUS"), (SIGABRT, "SIGABRT"), (SIGILL, "SIGILL"),
    (SIGTRAP, "SIGTRAP"), (SIGFPE, "SIGFPE"),
  ]
  private static let stackByteCount = 1 << 16

  // All that the handler uses is made before it is installed, and never changes: a handler may not
  // allocate.
  private nonisolated(unsafe) static let program = strdup("/proc/self/exe")!  // because: see above
  /// Words of the next program; the third names the signal.
  private nonisolated(unsafe) static let words =  // because: see above
    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 6)
  private nonisolated(unsafe) static let names =  // because: see above
    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 65)

  private let signal: String
  private let command: String
  private let path: String

  /// Nil unless a command became this program when it was ended.
  init?(_ arguments: [String]) {
    guard arguments.count == 5, arguments[1] == Self.word else { return nil }
    (signal, command, path) = (arguments[2], arguments[3], arguments[4])
  }

  /// From now on a signal that would end the program makes it tell about that file.
  static func keep(for arguments: ParsedArguments) {
    guard let path = arguments.positional("FILE") else { return }
    let texts = [CommandLine.arguments.first ?? "tarn", word, "", arguments.command, path]
    for (index, text) in texts.enumerated() { words[index] = strdup(text) }
    words[texts.count] = nil
    names.initialize(repeating: nil, count: 65)
    for (number, name) in signals { names[Int(number)] = strdup(name) }
    _ = program
    // A stack that overflowed has no room for a handler.
    var stack = stack_t()
    stack.ss_sp = .allocate(byteCount: stackByteCount, alignment: 16)
    stack.ss_size = stackByteCount
    sigaltstack(&stack, nil)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { number in LastWords.become(number) }
    // Not masked: what follows would inherit that.
    action.sa_flags = SA_NODEFER | SA_ONSTACK | Int32(bitPattern: UInt32(SA_RESETHAND))
    var unmasked = sigset_t()
    sigemptyset(&unmasked)
    for (number, _) in signals {
      sigaction(number, &action, nil)
      sigaddset(&unmasked, number)
    }
    // Who started this program may have masked some.
    pthread_sigmask(SIG_UNBLOCK, &unmasked, nil)
  }

  private static func become(_ number: Int32) {
    words[2] = names[Int(number)]
    execv(program, words)
    _exit(ExitCode.failure.rawValue)
  }

  /// Says what ended the command, and what a walk over the file's pages finds.
  func tell() -> ExitCode {
    TarnProgram.complain("\(command) was ended by \(signal) while it worked on \(path)")
    do {
      let problems = try Environment.verifyPages(path: path).problems
      for problem in problems { TarnProgram.complain("\(path) is damaged: \(problem)") }
      if problems.isEmpty {
        TarnProgram.complain(
          "all pages of \(path) are sound; their content may be damaged: tarn inspect --check "
            + "checks it. If that finds nothing, this is a bug in tarn.")
      }
    } catch {
      TarnProgram.complain("\(error)")
    }
    return .failure
  }
}
