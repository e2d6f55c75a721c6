import Foundation
import Tarn
import ToolSupport

/// An observer: applies every change that it receives, and compares with the data at each version.
final class StressObserving {
  private let worker: Worker
  private let scheduler = ManualScheduler()
  private let realm: Realm
  private var tokens: [NotificationToken] = []
  private var mirrors: [StressMirror] = []
  private var shelfMirrors: [StressShelfMirror] = []
  private var problems: [String] = []
  private var newest = -1
  private var totals: Int?

  init(_ worker: Worker) throws {
    self.worker = worker
    realm = try Realm(configuration: worker.configuration, scheduler: scheduler)
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
      scheduler.wait(timeout: 0.1)
      if scheduler.pump() { report() }
    }
    let updates = mirrors.map(\.updates) + shelfMirrors.map(\.updates)
    WorkerLine.say("updates \(updates.reduce(0, +))")
    withExtendedLifetime(token) {}
  }

  private func mirror(_ name: String, _ results: Results<StressAccount>) {
    let mirror = StressMirror(name, forgets: worker.sabotage == "mirror" && mirrors.isEmpty)
    mirrors.append(mirror)
    tokens.append(
      results.observe { [unowned self] change in
        if let problem = mirror.apply(change) { problems.append(problem) }
      })
  }

  private func mirror(_ shelf: StressShelf) {
    func begin(_ name: String) -> StressShelfMirror {
      let forgets = worker.sabotage == "list" && shelfMirrors.isEmpty
      let mirror = StressShelfMirror("\(name) of shelf \(shelf.id)", forgets: forgets)
      shelfMirrors.append(mirror)
      return mirror
    }
    func note(_ problem: String?) { if let problem { problems.append(problem) } }
    let (numbers, tags) = (begin("numbers"), begin("tags"))
    let (marks, accounts) = (begin("marks"), begin("accounts"))
    tokens += [
      shelf.numbers.observe { note(numbers.apply($0) { "\($0)" }) },
      shelf.tags.observe { note(tags.apply($0) { $0 }) },
      shelf.marks.observe { note(marks.apply($0)) },
      shelf.accounts.observe { note(accounts.apply($0) { "\($0.id): \($0.balance)" }) },
    ]
  }

  /// The old value of each change must be the last one seen.
  private func observeTotal() -> NotificationToken? {
    guard let total = realm.object(ofType: StressTotal.self, forPrimaryKey: 0) else {
      WorkerLine.bad("the row of totals is missing")
    }
    totals = total.commits
    return total.observe { [unowned self] change in
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

  private func report() {
    if let problem = StressStore.problem(realm) { problems.append(problem) }
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
