import Tarn
import TarnSync

final class Todo: Object {
  @Persisted(primaryKey: true) var _id: String
  @Persisted var owner: String
  @Persisted var title: String
  @Persisted var priority: Int
}

/// - Parameter server: a database, such as `postgresql://db.example/todo`.
@MainActor func openTodos(at server: String, password: String) async throws -> Realm {
  let app = App(id: "todo", configuration: AppConfiguration(baseURL: server))
  let user = try await app.login(
    credentials: .emailPassword(email: "frodo", password: password))
  var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
    subscriptions.append(QuerySubscription<Todo>(name: "mine") { $0.owner == "frodo" })
  })
  configuration.objectTypes = [Todo.self]
  return try await Realm(configuration: configuration, downloadBeforeOpen: .always)
}
