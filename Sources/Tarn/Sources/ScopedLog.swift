package import TarnStore

/// What those observers of a source are told who look equally far: its steps as they see them.
///
/// Confined to the instance's scheduler.
package final class ScopedLog {
  package private(set) var scope: BoundScope
  // Whoever has a view has its source.
  private unowned let source: any ObservedSource
  private var log = StepLog()
  /// The difference that was asked for last, by the steps that it is of.
  private var lastDifference: (first: Int, last: Int, difference: LiveDifference)?

  init(_ scope: BoundScope, of source: any ObservedSource) {
    self.scope = scope
    self.source = source
  }

  /// Looks as far in another schema.
  func rebind(to scope: BoundScope) { self.scope = scope }

  /// - Parameter change: nil if the step does not concern it.
  /// - Returns: false then.
  func append(_ change: LiveChange?, at step: Int) -> Bool {
    guard let change else { return false }
    log.append(change, at: step)
    return true
  }

  /// There is something to tell of that step.
  func hasNews(of step: Int) -> Bool { log.numbers.last == step }

  /// The numbers of the steps that concern it and that not everybody has been told of, ascending.
  var stepNumbers: [Int] { log.numbers }

  func hasSteps(after seen: Int, upTo target: Int) -> Bool {
    stepNumbers.contains { $0 > seen && $0 <= target }
  }

  /// The last step up to `target` that no skipped one lies before.
  func lastStep(from first: Int, upTo target: Int, before skipped: Set<Int>) -> Int {
    var last = first
    for number in stepNumbers where number > first && number <= target {
      if skipped.contains(number) { break }
      last = number
    }
    return last
  }

  /// The difference between what there was after step `seen` and after step `last`.
  ///
  /// - Parameter baseline: what the observer saw instead of the state after step `seen`.
  func difference(
    after seen: Int, upTo last: Int, from baseline: LiveBaseline?
  ) -> LiveDifference {
    let range = log.range(after: seen, upTo: last)
    guard let first = range.first, let end = range.last else { return .indices(IndexChanges()) }
    if case .keys(let old)? = baseline {
      guard case .keys(let new) = source.baseline() else {
        return .keys(KeyChanges(from: old, to: []))
      }
      return .keys(KeyChanges(from: old, to: new))
    }
    if baseline != nil { return LiveChange.difference(log[range], from: baseline) }
    let (from, to) = (log.numbers[first], log.numbers[end])
    if let known = lastDifference, known.first == from, known.last == to {
      return known.difference
    }
    let made = LiveChange.difference(log[range])
    lastDifference = (from, to, made)
    return made
  }

  /// The elements that there were after step `last`, to be read whenever they are asked for.
  ///
  /// - Parameters:
  ///   - state: shows the source as it was then.
  ///   - former: from where on is told what has changed behind them; nil if nobody knows.
  func elements(
    after last: Int, in state: PastState, since former: PastState?
  ) -> PastElements {
    let isShown = log.numbers.last.map { $0 <= last } ?? true
    return source.elements(
      after: isShown ? nil : log.change(at: last), in: state, since: former, seen: scope.scope)
  }

  /// Keeps the steps that not everybody has been told of from becoming ever more: merges them
  /// where they are many.
  ///
  /// - Parameter marks: steps after which something is told anew.
  func mergeSteps(splitAt marks: Set<Int>) {
    guard log.numbers.count > Swift.max(32, 2 * marks.count) else { return }
    lastDifference = nil
    log.merge(splitAt: marks)
  }

  /// Lets go of the steps up to `last`, of which everybody has been told.
  ///
  /// - Returns: what they did to rows.
  package func forgetSteps(upTo last: Int) -> [LiveChange] {
    lastDifference = nil
    var told = log.removeAll(upTo: last)
    for index in told.indices { told[index].dropDerivedState() }
    return told
  }
}
