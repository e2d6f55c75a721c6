/// Looks for the part of a failing program that is to blame: delta debugging over its steps.
package enum ShorterPrograms {
  /// Leaves out steps, in ever smaller runs, as long as the rest fails.
  ///
  /// - Parameters:
  ///   - tries: how many programs are run at most.
  ///   - fails: runs a program.
  package static func shortest<Step>(
    _ steps: [Step], tries: Int = 200, where fails: ([Step]) throws -> Bool
  ) rethrows -> [Step] {
    var (steps, rest) = (steps, tries)
    var length = max(1, steps.count / 2)
    while true {
      var (start, hasShrunk) = (0, false)
      while start < steps.count {
        if rest == 0 { return steps }
        rest -= 1
        let shorter = Array(steps[..<start] + steps[min(start + length, steps.count)...])
        if try fails(shorter) {
          (steps, hasShrunk) = (shorter, true)
        } else {
          start += length
        }
      }
      if length > 1 {
        length /= 2
      } else if !hasShrunk {
        return steps
      }
    }
  }
}
