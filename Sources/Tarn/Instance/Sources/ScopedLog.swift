package import TarnStore

/// The steps of a source, as observers with one scope receive them.
///
/// Confined to the instance's scheduler.
package final class ScopedLog {
  package private(set) var scope: BoundScope
  // Every user of a view has its source.
  private unowned let source: any ObservedSource
  private var log = StepLog()
  /// The difference requested last.
  private var lastDifference: Known?

  /// A difference, with its range of steps. Elsewhere in memory: most of many logs have none.
  private final class Known {
    let first: Int
    let last: Int
    let difference: LiveDifference

    init(_ first: Int, _ last: Int, _ difference: LiveDifference) {
      self.first = first
      self.last = last
      self.difference = difference
    }
  }

  init(_ scope: BoundScope, of source: any ObservedSource) {
    self.scope = scope
    self.source = source
  }

  /// Continues with the scope in another schema.
  func rebind(to scope: BoundScope) { self.scope = scope }

  /// - Parameter change: nil if the step does not concern it.
  /// - Returns: false in that case.
  func append(_ change: LiveChange?, at step: Int) -> Bool {
    guard let change else { return false }
    log.append(change, at: step)
    return true
  }

  /// True if that step is to be reported.
  func hasNews(of step: Int) -> Bool { log.numbers.last == step }

  /// The numbers of the steps that concern it and that not all observers have received, ascending.
  var stepNumbers: [Int] { log.numbers }

  func hasSteps(after seen: Int, upTo target: Int) -> Bool {
    stepNumbers.contains { $0 > seen && $0 <= target }
  }

  /// The last step up to `target` with no skipped one before it.
  func lastStep(from first: Int, upTo target: Int, before skipped: Set<Int>) -> Int {
    var last = first
    for number in stepNumbers where number > first && number <= target {
      if skipped.contains(number) { break }
      last = number
    }
    return last
  }

  /// The difference between the content after step `seen` and after step `last`.
  ///
  /// - Parameter baseline: the content that the observer received instead of that after step
  ///   `seen`.
  func difference(
    after seen: Int, upTo last: Int, from baseline: LiveBaseline?
  ) -> LiveDifference {
    let range = log.range(after: seen, upTo: last)
    guard let first = range.first, let end = range.last else { return LiveDifference() }
    if let old = baseline?.keys {
      return LiveDifference(keys: KeyChanges(from: old, to: source.baseline().keys ?? []))
    }
    if let baseline { return log.merged(in: range).difference(from: baseline) }
    let (from, to) = (log.numbers[first], log.numbers[end])
    if let known = lastDifference, known.first == from, known.last == to {
      return known.difference
    }
    let made = log.merged(in: range).difference()
    lastDifference = Known(from, to, made)
    return made
  }

  /// The elements after step `last`, read at their first use.
  ///
  /// - Parameters:
  ///   - state: the state after that step.
  ///   - past: the state since which changes in linked objects are reported; nil if unknown.
  func elements(
    after last: Int, in state: PastState, since past: PastState?
  ) -> PastElements {
    let isShown = log.numbers.last.map { $0 <= last } ?? true
    return source.elements(
      after: isShown ? nil : log.change(at: last), in: state, since: past, seen: scope.scope)
  }

  /// Limits the number of steps that not all observers have received, by merging them.
  ///
  /// - Parameter marks: steps after which a new call begins.
  func mergeSteps(splitAt marks: Set<Int>) {
    guard log.numbers.count > Swift.max(32, 2 * marks.count) else { return }
    lastDifference = nil
    log.merge(splitAt: marks)
  }

  /// Drops the steps up to `last`, which all observers have received.
  ///
  /// - Returns: their changes of rows.
  package func forgetSteps(upTo last: Int) -> [LiveChange] {
    lastDifference = nil
    var told = log.removeAll(upTo: last)
    for index in told.indices { told[index].dropDerivedState() }
    return told
  }
}
