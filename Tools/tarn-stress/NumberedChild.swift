import Foundation
import ToolSupport

/// Does a sequence of numbered steps in a child process that may crash or hang at any of them.
///
/// The child says `at N` before each step, and `bad N …` for each problem. If it ends before the
/// last step, that is a problem of the step that it was at, and another child begins after it.
struct NumberedChild {
  /// How long a step may take.
  var patience = Duration.seconds(120)
  /// From one step to the next.
  var stride = 1
  /// Starts a child for the steps from this number on.
  let start: (Int) throws -> ChildProcess

  /// - Parameters:
  ///   - hear: gets the lines that are neither.
  ///   - problem: gets the number of a step and what is wrong with it.
  func run(
    _ steps: Range<Int>, hear: (String) -> Void, problem: (Int, String) -> Void
  ) throws {
    var next = steps.lowerBound
    while next < steps.upperBound {
      var last = next
      let child = try start(next)
      var isLate = false
      var limit = ContinuousClock.now + patience
      while child.isOpen, !isLate {
        child.waitForOutput(milliseconds: 1000)
        for line in child.lines() {
          limit = ContinuousClock.now + patience
          let words = line.splitASCII(" ", maxSplits: 2).map(String.init)
          guard words.count > 1, let number = Int(words[1]), ["at", "bad"].contains(words[0]) else {
            hear(line)
            continue
          }
          last = number
          if words[0] == "bad" { problem(number, words.count > 2 ? words[2] : "") }
        }
        isLate = ContinuousClock.now > limit
      }
      if isLate { child.signal(SIGKILL) }
      let end = child.wait()
      if end == .exited(0) { return }
      problem(last, isLate ? "it hangs" : "the process ended: \(end)")
      next = last + stride
    }
  }
}
