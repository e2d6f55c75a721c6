import Foundation
import Tarn
import TestSupport
import Testing
import ToolSupport

/// The examples of the article, as they are printed there.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct DaemonExampleTests {
  final class Order: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var customer: String
    @Persisted var status: String
    @Persisted var total: Double
  }

  final class Product: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var title: String
    @Persisted var text: String
    @Persisted var isVisible: Bool
  }

  private let folder = TemporaryFolder()

  private var realm: Realm {
    get throws {
      var configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder.file("shop.tarn")),
        objectTypes: [Order.self, Product.self])
      configuration.durability = .relaxed
      return try Realm(configuration: configuration)
    }
  }

  // MARK: - The article

  /// The block of the article that follows the name of its file.
  private func block(_ path: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let article = try String(
      contentsOf: root.appendingPathComponent(
        "Sources/Tarn/Documentation.docc/DaemonExamples.md"), encoding: .utf8)
    let parts = article.components(separatedBy: "`\(path)`:\n\n```")
    try #require(parts.count == 2)
    let lines = try #require(parts[1].components(separatedBy: "\n```\n").first)
    // Without the language.
    return lines.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
      .joined(separator: "\n") + "\n"
  }

  /// With the places of this machine, and the stand-ins' ports.
  private func adapted(_ text: String, _ mail: String, _ web: String) -> String {
    text.replacing("/srv/shop/", with: folder.path + "/")
      .replacing("/usr/local/bin/", with: folder.path + "/")
      .replacing("/var/lib/tarn/", with: folder.path + "/")
      .replacing("\"localhost\", 25", with: "\"localhost\", \(mail)")
      .replacing("127.0.0.1/products", with: "127.0.0.1:\(web)/products")
  }

  private struct Shop {
    let daemon: DaemonProcess
    let standins: ChildProcess

    /// What comes to the mail server or the web server next.
    func next() throws -> String { try #require(standins.line { _ in true }) }
  }

  private func start(_ configuration: String, _ program: String) throws -> Shop {
    _ = try realm
    let script = try #require(
      Bundle.module.url(forResource: "standins", withExtension: "py", subdirectory: "Resources"))
    let standins = try ChildProcess("python3", [script.path])
    let ports = try #require(standins.line { _ in true }).split(separator: " ").map(String.init)
    let text = adapted(try block("/usr/local/bin/\(program)"), ports[0], ports[1])
    let path = try folder.file(program, Array(text.utf8))
    chmod(path, 0o755)
    let daemon = try DaemonProcess(
      folder,
      adapted(try block("/etc/tarn/watch.d/\(configuration)"), ports[0], ports[1]))
    return Shop(daemon: daemon, standins: standins)
  }

  // MARK: - Tests

  @Test func sendsMailForNewRows() throws {
    let realm = try realm
    try realm.write {
      realm.create(Order.self, value: ["id": 1, "customer": "ann@example.com", "status": "paid"])
    }
    let shop = try start("mail.yaml", "mail-orders")
    try realm.write {
      realm.create(Order.self, value: ["id": 2, "customer": "bob@example.com", "status": "open"])
      realm.create(Order.self, value: ["id": 3, "customer": "eve@example.com", "status": "paid"])
    }
    #expect(
      try shop.next()
        == "mail eve@example.com Order 3 is paid <order-3@shop.example.com>")
    // Whatever else changes in it: a selected property, too.
    let bob = try #require(realm.object(ofType: Order.self, forPrimaryKey: 2))
    try realm.write {
      bob.total = 7
      bob.status = "paid"
    }
    #expect(
      try shop.next()
        == "mail bob@example.com Order 2 is paid <order-2@shop.example.com>")
    // One that was paid before is no news.
    try realm.write { bob.total = 8 }
    try realm.write {
      realm.create(Order.self, value: ["id": 4, "customer": "joe@example.com", "status": "paid"])
    }
    #expect(
      try shop.next()
        == "mail joe@example.com Order 4 is paid <order-4@shop.example.com>")
    shop.daemon.stop()
  }

  @Test func keepsASearchIndexInStep() async throws {
    let realm = try realm
    func put(_ id: Int, _ title: String, isVisible: Bool = true) throws {
      try realm.write {
        realm.create(
          Product.self,
          value: ["id": id, "title": title, "text": "Text \(id)", "isVisible": isVisible],
          update: .all)
      }
    }
    for id in 0..<10 { try put(id, "Product \(id)", isVisible: id != 4) }
    let shop = try start("search.yaml", "index-products")
    var random = SeededRandom(seed: 31)
    for round in 0..<60 {
      let id = random.below(20)
      if random.chance(20), let product = realm.object(ofType: Product.self, forPrimaryKey: id) {
        try realm.write { realm.delete(product) }
      } else {
        try put(id, "Product \(id) \(round)", isVisible: random.chance(80))
      }
      if round % 20 == 10 { try shop.daemon.killAndRestart() }
    }
    let expected = realm.objects(Product.self).where { $0.isVisible == true }
      .map { "\($0.id) \($0.title)" }.sorted()
    try await yieldUntil { try indexed() == expected }
    shop.daemon.stop()
  }

  /// What the index finds for the word "Product".
  private func indexed() throws -> [String] {
    let question =
      "import sqlite3, sys\n"
      + "for row in sqlite3.connect(sys.argv[1]).execute(\"SELECT rowid, title FROM product "
      + "WHERE product MATCH 'product'\"): print(*row)\n"
    let (lines, end) = try ChildProcess(
      "python3", ["-c", question, folder.file("search.db")]
    ).finish()
    #expect(end == .exited(0))
    return lines.sorted()
  }

  @Test func refreshesAWebCache() throws {
    let realm = try realm
    try realm.write {
      for id in 1...3 { realm.create(Product.self, value: ["id": id, "title": "Product \(id)"]) }
    }
    let shop = try start("pages.yaml", "refresh-pages")
    let first = try #require(realm.object(ofType: Product.self, forPrimaryKey: 1))
    let second = try #require(realm.object(ofType: Product.self, forPrimaryKey: 2))
    try realm.write {
      first.title = "Other"
      realm.delete(second)
    }
    let refreshed = try [shop.next(), shop.next()]
    #expect(refreshed.sorted() == ["refresh /products/1", "refresh /products/2"])
    try realm.write { first.title = "Another" }
    #expect(try shop.next() == "refresh /products/1")
    shop.daemon.stop()
  }
}
