/// The change of ordered elements: how they moved, and for a set the values removed and inserted. A
/// value of a set that is removed in one step and inserted in a later one has stayed.
package struct ScriptStep: Sendable {
  /// A value and its old or new position.
  struct PositionedValue: Sendable {
    var position: Int
    var value: Value
  }

  /// Values removed from a set at old positions, and inserted ones at new positions; ascending.
  struct SetValues: Sendable {
    var removed: [PositionedValue] = []
    var added: [PositionedValue] = []
  }

  let script: EditScript
  /// Nil if the elements are not a set's.
  let values: SetValues?
  /// True for more than one step.
  private var isMerged = false

  init(_ script: EditScript, values: SetValues? = nil) {
    self.script = script
    self.values = values
  }

  /// This step and the next one, merged.
  func merging(_ later: ScriptStep) -> ScriptStep {
    let script = script.composing(later.script)
    var merged = ScriptStep(script)
    if let values, let next = later.values {
      let changes = script.indexChanges()
      merged = ScriptStep(
        script,
        values: SetValues(
          removed: changes.deletions.map { position in
            let value =
              self.script.newPosition(of: position).map { next.removed.value(at: $0) }
              ?? values.removed.value(at: position)
            return PositionedValue(position: position, value: value)
          },
          added: changes.insertions.map { position in
            let value =
              later.script.oldPosition(of: position).map { values.added.value(at: $0) }
              ?? next.added.value(at: position)
            return PositionedValue(position: position, value: value)
          }))
    }
    merged.isMerged = true
    return merged
  }

  /// The change as positions.
  ///
  /// - Parameter baseline: the content that the observer saw instead of the state before the step.
  func difference(from baseline: LiveBaseline?) -> IndexChanges {
    if let baseline {
      return EditScript.replacingAll(oldCount: baseline.count, newCount: script.newCount)
        .indexChanges()
    }
    var changes = script.indexChanges(withMoves: true)
    if isMerged, let values { leaveOutRepeats(&changes, values) }
    return changes
  }

  /// An object that was removed and inserted again may have changed meanwhile, and a number may
  /// have changed its form.
  private func leaveOutRepeats(_ changes: inout IndexChanges, _ values: SetValues) {
    let (removed, added) = (values.removed, values.added)
    for (old, new) in Self.common(removed, added).reversed() {
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
}

extension [ScriptStep.PositionedValue] {
  fileprivate func value(at position: Int) -> Value {
    self[partitioningIndex { $0.position >= position }].value
  }
}
