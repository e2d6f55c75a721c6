/// The change of a set in one step: how positions moved, and the values removed and inserted. A
/// value that is removed in one step and inserted in a later one has stayed.
package struct SetStep: Sendable {
  /// A value and its old or new position.
  struct PositionedValue: Sendable {
    var position: Int
    var value: Value
  }

  var script: EditScript
  /// Removed values at old positions, and inserted ones at new positions; ascending.
  var removed: [PositionedValue] = []
  var added: [PositionedValue] = []

  /// This step and the next one, merged.
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

  /// An object that was removed and inserted again may have changed meanwhile, and a number may
  /// have changed its form.
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
      // The same number may have been inserted in another form.
      case let value: if value == added[new].value { continue }
      }
      changes.modifications.append(removed[old].position)
      changes.modificationsNew.append(added[new].position)
    }
    changes.modifications.sort()
    changes.modificationsNew.sort()
  }

  /// The positions in both of the values that are in both; both are in the set's order.
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

  /// The element at a position before the steps that was removed by them.
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

  /// The element at a position after the steps that was inserted by them.
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
