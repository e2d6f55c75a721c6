/// What one step did to a set: how positions moved, and the values that went and came. A value
/// that goes in one step and comes back in a later one has stayed.
package struct SetStep: Sendable {
  /// A value and where it was or is.
  struct PositionedValue: Sendable {
    var position: Int
    var value: Value
  }

  var script: EditScript
  /// What went, at old positions, and what came, at new ones; ascending.
  var removed: [PositionedValue] = []
  var added: [PositionedValue] = []

  /// This step and the next one as one.
  func merging(_ later: SetStep) -> SetStep {
    let steps = [self, later]
    var all = SetStep(script: script.composing(later.script))
    let changes = all.script.indexChanges()
    all.removed = changes.deletions.map {
      PositionedValue(position: $0, value: Self.removedValue($0, steps))
    }
    all.added = changes.insertions.map {
      PositionedValue(position: $0, value: Self.addedValue($0, steps))
    }
    return all
  }

  static func difference(_ steps: [SetStep], from baseline: LiveBaseline?) -> IndexChanges {
    var script = steps[0].script
    for step in steps.dropFirst() { script = script.composing(step.script) }
    if case .count(let count)? = baseline {
      return EditScript.replacingAll(oldCount: count, newCount: script.newCount).indexChanges()
    }
    var changes = script.indexChanges()
    if steps.count > 1 { leaveOutRepeats(&changes, steps) }
    return changes
  }

  /// An object that went and came back may have changed meanwhile, and a number may be there in
  /// another form.
  private static func leaveOutRepeats(_ changes: inout IndexChanges, _ steps: [SetStep]) {
    if changes.deletions.isEmpty || changes.insertions.isEmpty { return }
    let removed = changes.deletions.map {
      PositionedValue(position: $0, value: removedValue($0, steps))
    }
    let added = changes.insertions.map {
      PositionedValue(position: $0, value: addedValue($0, steps))
    }
    for (old, new) in common(removed, added).reversed() {
      changes.deletions.remove(at: old)
      changes.insertions.remove(at: new)
      switch removed[old].value {
      case .link, .object: break
      // What came back may be the same number in another form.
      case let value: if value == added[new].value { continue }
      }
      changes.modifications.append(removed[old].position)
      changes.modificationsNew.append(added[new].position)
    }
    changes.modifications.sort()
    changes.modificationsNew.sort()
  }

  /// The positions in both of the values that are in both; both are in the order of a set.
  static func common(_ a: [PositionedValue], _ b: [PositionedValue]) -> [(Int, Int)] {
    var pairs: [(Int, Int)] = []
    var (i, j) = (0, 0)
    while i < a.count, j < b.count {
      let order = SequenceOrder.compare(a[i].value, b[j].value)
      if order == 0 { pairs.append((i, j)) }
      if order <= 0 { i += 1 }
      if order >= 0 { j += 1 }
    }
    return pairs
  }

  /// The element that was at a position before the steps and is not there after them.
  private static func removedValue(_ position: Int, _ steps: [SetStep]) -> Value {
    var position = position
    for step in steps {
      guard let next = step.script.newPosition(of: position) else {
        return step.removed.value(at: position)
      }
      position = next
    }
    trap("internal error: a deleted element is present")
  }

  /// The element that is at a position after the steps and was not there before them.
  private static func addedValue(_ position: Int, _ steps: [SetStep]) -> Value {
    var position = position
    for step in steps.reversed() {
      guard let former = step.script.oldPosition(of: position) else {
        return step.added.value(at: position)
      }
      position = former
    }
    trap("internal error: an inserted element was present before")
  }
}

extension [SetStep.PositionedValue] {
  fileprivate func value(at position: Int) -> Value {
    self[partitioningIndex { $0.position >= position }].value
  }
}
