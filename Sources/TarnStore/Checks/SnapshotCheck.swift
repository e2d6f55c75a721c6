/// A check of a state of a file, which goes on after what it finds.
protocol SnapshotCheck {
  /// What is wrong, a sentence each; not all where there is much.
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
