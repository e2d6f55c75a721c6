import Foundation
import Tarn
import ToolSupport

/// An observer: applies every change that it receives, and compares with the data at each version.
final class StressObserving {
  /// The kind of the reader that pauses, in a soak.
  static let pausing = "pausing"
  private let worker: Worker
  private let scheduler = ManualScheduler()
  private let realm: Realm
  private var tokens: [NotificationToken] = []
  private var mirrors: [StressMirror] = []
  private var shelfMirrors: [StressShelfMirror] = []
  private var problems: [String] = []
  private var newest = -1
  private var totals: Int?
  private let stocks: StressStockCheck
  /// A migration has ended the observations.
  private var isOutdated = false

  init(_ worker: Worker) throws {
    self.worker = worker
    var configuration = worker.configuration
    configuration.readOnly = worker.manner == ObserverManner.readOnly.rawValue
    realm = try Realm(configuration: configuration, scheduler: scheduler)
    stocks = StressStockCheck(seed: worker.seed)
  }

  func run() throws {
    let all = realm.objects(StressAccount.self)
    mirror("all accounts", all)
    mirror("rich accounts", all.where { $0.balance > 100 }.sorted(by: \.balance, ascending: false))
    mirror(
      "by note", all.sorted(by: [SortDescriptor(keyPath: "note"), SortDescriptor(keyPath: "id")]))
    for shelf in realm.objects(StressShelf.self) { mirror(shelf) }
    let token = observeTotal()
    scheduler.pump()
    report()
    while access(worker.path + ".end", F_OK) != 0 {
      if isToPause {
        hold()
        continue
      }
      scheduler.wait(timeout: 0.1)
      if scheduler.pump() { report() }
      if isOutdated { return WorkerLine.say("outdated") }
    }
    let updates = mirrors.map(\.updates) + shelfMirrors.map(\.updates)
    WorkerLine.say("updates \(updates.reduce(0, +))")
    withExtendedLifetime(token) {}
  }

  /// Whether it is the reader that pauses, and must do so now.
  private var isToPause: Bool {
    worker.manner == Self.pausing && access(worker.path + ".pause", F_OK) == 0
  }

  /// Verifies the version that it holds while others commit.
  private func hold() {
    let problem = StressStore.problem(realm) ?? stocks.problem(realm)
    if let problem { WorkerLine.bad("a version that is held: \(problem)") }
    let commits = realm.object(ofType: StressTotal.self, forPrimaryKey: 0)?.commits ?? -1
    if commits != newest { WorkerLine.bad("a held version went from \(newest) to \(commits)") }
    usleep(200_000)
  }

  private func mirror(_ name: String, _ results: Results<StressAccount>) {
    let mirror = StressMirror(name, forgets: worker.sabotage == "mirror" && mirrors.isEmpty)
    mirrors.append(mirror)
    tokens.append(
      results.observe { [unowned self] in note($0, mirror.apply($0)) })
  }

  private func mirror(_ shelf: StressShelf) {
    func begin(_ name: String) -> StressShelfMirror {
      let forgets = worker.sabotage == "list" && shelfMirrors.isEmpty
      let mirror = StressShelfMirror("\(name) of shelf \(shelf.id)", forgets: forgets)
      shelfMirrors.append(mirror)
      return mirror
    }
    let (numbers, tags) = (begin("numbers"), begin("tags"))
    let (marks, accounts) = (begin("marks"), begin("accounts"))
    tokens += [
      shelf.numbers.observe { [unowned self] in note($0, numbers.apply($0) { "\($0)" }) },
      shelf.tags.observe { [unowned self] in note($0, tags.apply($0) { $0 }) },
      shelf.marks.observe { [unowned self] change in
        if case .error(let error) = change, end(error) { return }
        if let problem = marks.apply(change) { problems.append(problem) }
      },
      shelf.accounts.observe { [unowned self] in
        note($0, accounts.apply($0) { "\($0.id): \($0.balance)" })
      },
    ]
  }

  /// Notes the end of an observation, or a problem that its mirror has found.
  private func note<Elements>(_ change: RealmCollectionChange<Elements>, _ problem: String?) {
    if case .error(let error) = change, end(error) { return }
    if let problem { problems.append(problem) }
  }

  /// The old value of each change must be the last one seen.
  private func observeTotal() -> NotificationToken? {
    guard let total = realm.object(ofType: StressTotal.self, forPrimaryKey: 0) else {
      WorkerLine.bad("the row of totals is missing")
    }
    totals = total.commits
    return total.observe { [unowned self] change in
      if case .error(let error) = change, end(error) { return }
      guard case .change(let total, let properties) = change else {
        return problems.append("the row of totals was deleted")
      }
      guard let commits = properties.first(where: { $0.name == "commits" }) else { return }
      if commits.oldValue as? Int != totals {
        problems.append(
          "the old value of commits is \(commits.oldValue ?? "nil"), but \(totals ?? -1) was seen")
      }
      if commits.newValue as? Int != total.commits {
        problems.append("the new value of commits is not the current one")
      }
      totals = total.commits
    }
  }

  /// Whether observations end because of a migration.
  private func end(_ error: any Error) -> Bool {
    guard (error as? Realm.Error)?.code == .schemaMismatch else { return false }
    isOutdated = true
    return true
  }

  private func report() {
    let problem = StressStore.problem(realm) ?? stocks.problem(realm)
    if let problem { problems.append(problem) }
    let commits = realm.object(ofType: StressTotal.self, forPrimaryKey: 0)?.commits ?? -1
    if commits < newest { problems.append("the version went back from \(newest) to \(commits)") }
    if let totals, totals != commits {
      problems.append("the observer of the totals stayed at \(totals), the data is at \(commits)")
    }
    if let problem = problems.first { WorkerLine.bad("at \(commits): \(problem)") }
    if commits != newest { WorkerLine.say("seen \(commits)") }
    newest = commits
  }
}
