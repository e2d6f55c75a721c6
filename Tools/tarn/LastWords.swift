import Foundation
import TarnStore
import ToolSupport

/// Reports the file and its damage when a signal kills a command.
///
/// Before a command reads a file, it walks all pages, and it checks their contents as it reads
/// them. Three cases remain: another process truncates or overwrites the file meanwhile, the disk
/// can no longer read a page, and bugs in tarn. After SIGSEGV or SIGBUS little is safe but `exec`.
/// So the process executes this program again, which walks the pages, prints what it finds, and
/// exits with 1.
struct LastWords {
  private static let word = "--ended-by"
  private static let signals = [
    (SIGSEGV, "SIGSEGV"), (SIGBUS, "SIGBUS"), (SIGABRT, "SIGABRT"), (SIGILL, "SIGILL"),
    (SIGTRAP, "SIGTRAP"), (SIGFPE, "SIGFPE"),
  ]
  private static let stackByteCount = 1 << 16

  // The handler must not allocate, so everything it uses is made before it is installed and never
  // changes.
  /// Kept here, because the leak detection does not see that the kernel has its address.
  private nonisolated(unsafe) static let stack =  // because: see above
    UnsafeMutableRawPointer.allocate(byteCount: stackByteCount, alignment: 16)
  private nonisolated(unsafe) static let program = strdup("/proc/self/exe")!  // because: see above
  /// Arguments of the new process; the third is the signal's name.
  private nonisolated(unsafe) static let words =  // because: see above
    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 6)
  private nonisolated(unsafe) static let names =  // because: see above
    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 65)

  private let signal: String
  private let command: String
  private let path: String

  /// Nil unless a killed command executed this program.
  init?(_ arguments: [String]) {
    guard arguments.count == 5, arguments[1] == Self.word else { return nil }
    (signal, command, path) = (arguments[2], arguments[3], arguments[4])
  }

  /// From now on a fatal signal reports that file.
  static func keep(for arguments: ParsedArguments) {
    guard let path = arguments.positional("FILE") else { return }
    let texts = [ProgramArguments.all.first ?? "tarn", word, "", arguments.command, path]
    for (index, text) in texts.enumerated() { words[index] = text.withPath { strdup($0) } }
    words[texts.count] = nil
    names.initialize(repeating: nil, count: 65)
    for (number, name) in signals { names[Int(number)] = strdup(name) }
    _ = program
    // After a stack overflow the handler needs a separate stack.
    var described = stack_t()
    described.ss_sp = stack
    described.ss_size = stackByteCount
    sigaltstack(&described, nil)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { number in LastWords.become(number) }
    // Not masked: the new process would inherit the mask.
    action.sa_flags = SA_NODEFER | SA_ONSTACK | Int32(bitPattern: UInt32(SA_RESETHAND))
    var unmasked = sigset_t()
    sigemptyset(&unmasked)
    for (number, _) in signals {
      sigaction(number, &action, nil)
      sigaddset(&unmasked, number)
    }
    // The parent process may have masked some.
    pthread_sigmask(SIG_UNBLOCK, &unmasked, nil)
    // It speaks first: after this process has ended, the address is lost.
    BusErrors.explain()
  }

  private static func become(_ number: Int32) {
    words[2] = names[Int(number)]
    execv(program, words)
    _exit(ExitCode.failure.rawValue)
  }

  /// Prints the signal that killed the command, and the result of a walk over the file's pages.
  func tell() -> ExitCode {
    TarnProgram.complain("\(command) was killed by \(signal) while working on \(path)")
    if let facts = FileFacts.at(path), facts.byteCount == 0 {
      TarnProgram.complain("\(path) is empty: another program has truncated it")
      return .failure
    }
    do {
      let problems = try Environment.verifyPages(path: path).problems
      for problem in problems { TarnProgram.complain("\(path) is damaged: \(problem)") }
      if problems.isEmpty {
        TarnProgram.complain(
          signal == "SIGBUS"
            ? "all pages of \(path) can be read now, and are sound"
            : "all pages of \(path) are sound; their content may be damaged: tarn inspect --check "
              + "checks it. If that finds nothing, this is a bug in tarn.")
      }
    } catch {
      TarnProgram.complain("\(error)")
    }
    return .failure
  }
}
