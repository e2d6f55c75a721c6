/// A check of one version of a file that continues after a problem.
protocol SnapshotCheck {
  /// The problems, one sentence each; only the first ones if there are many.
  var problems: [String] { get set }
}

extension SnapshotCheck {
  mutating func note(_ problem: String) {
    if problems.count < 100 { problems.append(problem) }
  }

  /// Runs a part of the check, and notes an error that ends it under that name.
  mutating func attempt(
    _ name: String, _ body: (inout Self) throws(StorageError) -> Void
  ) {
    do throws(StorageError) { try body(&self) } catch { note("\(name): \(error)") }
  }
}
